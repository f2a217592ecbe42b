"""Bodies of the eight example models, as a team would write them: by function."""

from __future__ import annotations

_WORK = 'return {0}Result(work=f"{1}-{{step.step_instance_id}}")'


def _request(function: str) -> str:
    return _WORK.format("".join(word.capitalize() for word in function.split("_")), function)


BODIES: dict[str, dict[str, str]] = {
    "linear": {
        "stock_reserve": 'return StockReserveResult(reservation=f"r-{request.order}")',
        "stock_pack": 'return StockPackResult(parcel=f"{request.reservation}/{step.headers[\'hall\']}", weight=3)',
        "customer_notify": "return None",
    },
    "request-and-wait": {
        "render_request_start": 'return RenderRequestStartResult(job=f"job-{request.film}")',
        "film_publish": 'return FilmPublishResult(url=f"{request.location}?frames={request.frames}")',
    },
    "gate": {
        "claim_assess": "return ClaimAssessResult(amount=120)",
        "claim_pay": 'return ClaimPayResult(payment=f"paid {request.amount}")',
        "claim_decline": "return None",
    },
    "loop": {
        "article_write": (
            'rounds = (request.rounds or 0) + 1\nreturn ArticleWriteResult(rounds=rounds, text=f"draft {rounds}")'
        ),
        "article_publish": 'return ArticlePublishResult(url=f"/{request.text}")',
    },
    "parallel": {
        "credit_check": "return CreditCheckResult(limit=1000)",
        "stock_check": "return StockCheckResult(free=7)",
        "address_check": "return AddressCheckResult(valid=True)",
        "order_confirm": 'return OrderConfirmResult(confirmation=f"{request.limit}/{request.free}/{request.valid}")',
    },
    "boundary-timer": {
        "contract_send": 'return ContractSendResult(envelope=f"env-{request.contract}")',
        "contract_remind": "return ContractRemindResult(reminded=True)",
        "contract_file": 'return ContractFileResult(folder=f"signed by {request.signed_by}")',
        "contract_withdraw": "return ContractWithdrawResult(withdrawn=True)",
    },
    "subprocess": {
        "goods_pick": 'return GoodsPickResult(goods=["book"])',
        "goods_box": 'return GoodsBoxResult(parcel=f"box of {request.goods[0]}")',
        "order_bill": 'return OrderBillResult(invoice=f"{request.order}: {request.parcel}")',
    },
    "delivery": {
        **{
            name: _request(name)
            for name in (
                "requirements_request_start", "specification_request_start", "implementation_request_start",
                "verification_request_start", "acceptance_request_start", "release_request_start",
                "release_request_watch",
            )
        },
        "people_notify": "return None",
    },
}  # fmt: skip
