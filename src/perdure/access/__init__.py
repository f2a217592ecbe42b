"""Access: who asks, what they may do, the keys they show and the tokens a server signs."""
