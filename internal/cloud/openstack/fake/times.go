package fake

import "time"

func (c *shared) now() time.Time { return time.Now().UTC() }

// timestamp is the form in which Neutron and Octavia give times.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// manilaTime is the form in which Manila, Cinder and others give times: without a zone.
func manilaTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000") }
