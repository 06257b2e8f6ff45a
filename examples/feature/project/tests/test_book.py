"""Tests of bookings."""

import unittest

from ledger import Booking, balance


class BookTest(unittest.TestCase):
    def test_balance(self):
        self.assertEqual(balance([Booking("2026-01-01", "Bread", -350), Booking("2026-01-02", "Pay", 1000)]), 650)


if __name__ == "__main__":
    unittest.main()
