"""Bookings."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Booking:
    """Money that came or went. Amounts are in cents."""

    day: str
    text: str
    cents: int


def balance(bookings):
    """Adds up bookings, in cents."""
    return sum(booking.cents for booking in bookings)
