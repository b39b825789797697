package repo

import (
	"fmt"
	"os"
	"syscall"
)

// Lock acquires an exclusive lock on a file, which it creates, and returns the function that releases it. It excludes other processes, and other
// callers in this process.
func Lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("waiting for the lock: %w", err)
	}
	return func() { _ = file.Close() }, nil
}
