package gardenlet

import "time"

// AwaitNextSecond waits until the clock shows a later second than that of a time: Gardener compares the times of a request and of an operation by whole
// seconds.
func AwaitNextSecond(last time.Time) {
	next := last.Truncate(time.Second).Add(time.Second)
	for wait := time.Until(next); wait > 0; wait = time.Until(next) {
		time.Sleep(wait)
	}
}
