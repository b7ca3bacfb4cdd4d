package migrations

// SystemLock is the key that Up locks.
const SystemLock = systemLock
