"""What every client adapter needs: the member's session and the answer to a pending join."""
