package openstack

import (
	"strings"
	"time"
)

// Time is a point in time as Octavia and Cinder write it: in UTC, without a zone, and with or without a fraction. It is zero if it is missing or has another
// format: a list must not fail by it.
type Time struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(raw []byte) error {
	parsed, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(strings.Trim(string(raw), `"`), "Z"))
	if err != nil {
		parsed = time.Time{}
	}
	t.Time = parsed
	return nil
}
