"""Task results by every door: counted once, parked with a reason where they cannot be, replayed by a person."""
