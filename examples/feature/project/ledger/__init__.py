"""A small ledger: bookings and their balance."""

from ledger.book import Booking, balance
