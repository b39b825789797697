package contract

import (
	"errors"
	"sync"
)

// InParallel runs the steps concurrently and joins their errors. It waits for all of them, also if one fails.
func InParallel(steps ...func() error) error {
	results := make([]error, len(steps))
	var group sync.WaitGroup
	for i, step := range steps {
		group.Go(func() { results[i] = step() })
	}
	group.Wait()
	return errors.Join(results...)
}
