package core

import "time"

// Now returns the cloud's time in UTC.
func (c *Cloud) Now() time.Time { return time.Now().Add(time.Duration(c.clockOffset.Load())).UTC() }

// SetClockOffset makes the cloud's clock differ from that of this machine.
func (c *Cloud) SetClockOffset(offset time.Duration) { c.clockOffset.Store(int64(offset)) }

// Timestamp is the form in which Neutron and Octavia give times.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// ManilaTime is the form in which Manila, Cinder and others give times: without a zone.
func ManilaTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000") }
