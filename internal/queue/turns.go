package queue

import (
	"hash/fnv"
	"time"
)

// moments is how many moments of an interval objects have their turns at. Objects that have theirs at the same moment wake the process once.
const moments = 10

// UntilTurn returns the time until the next turn of the object with the identity, e.g. its UID. Every object has its moment in each interval, so that the
// work on objects is spread over it, also when all of them are seen at once at the start of the process.
func UntilTurn[ID ~string](identity ID, now time.Time, interval time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(identity)) // never fails
	offset := time.Duration(hash.Sum64()%moments) * interval / moments
	since := now.Sub(now.Truncate(interval).Add(offset))
	if since > 0 {
		return interval - since
	}
	return -since
}

// AfterTurn returns the time until the next turn of an object that has just had one, also if that was a little early or late.
func AfterTurn[ID ~string](identity ID, now time.Time, interval time.Duration) time.Duration {
	pause := UntilTurn(identity, now, interval)
	if pause < interval/2 {
		pause += interval
	}
	return pause
}
