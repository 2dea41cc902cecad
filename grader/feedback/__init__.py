"""The words of a report. Judges find facts; these templates say them."""
