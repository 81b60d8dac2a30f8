"""Published methods that rinn is compared with: one file each."""
