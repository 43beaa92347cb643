"""The consistency check: looks through the whole shop for what must never be (I1 to I4, I6 to I9, I11 to I14), and repairs what can be rebuilt."""
