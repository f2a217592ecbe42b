// To come.
import { PageHead } from "../../parts/page-head";

export default function Page() {
  return <PageHead title="home" />;
}
