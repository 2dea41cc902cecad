"""Mock interviews: the plan, the clock, what was said, and the debrief."""
