"""Text for people."""


def line(booking):
    """Writes a booking on one line, with its amount in euros."""
    return f"{booking.day} {booking.text} {booking.cents / 100:.2f}"
