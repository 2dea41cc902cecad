"""What the learner sees: plain text with a little colour, 80 columns, the next action last."""
