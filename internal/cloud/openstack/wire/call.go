package wire

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Service names one OpenStack service by the name of its project.
type Service string

// The services whose calls are told apart.
const (
	Keystone Service = "keystone"
	Neutron  Service = "neutron"
	Nova     Service = "nova"
	Glance   Service = "glance"
	Octavia  Service = "octavia"
	Manila   Service = "manila"
	Cinder   Service = "cinder"
)

// Call is one request that reached the cloud.
type Call struct {
	Seq     int     `json:"seq"` // 1 is the first since the last reset
	Service Service `json:"service"`
	Method  string  `json:"method"`
	// Path is normalised, see PathOf: "/v2.0/routers/{id}/add_router_interface".
	Path  string `json:"path"`
	Query string `json:"query,omitempty"`
	// Status is what was answered; when the connection was cut after the effect, what would have been; 0 when it was
	// cut before.
	Status int `json:"status"`
	// InFlight counts the calls under way when this one arrived, itself included.
	InFlight int `json:"inFlight"`
}

// Name is the call without its particulars: "neutron POST /v2.0/networks".
func (c Call) Name() string { return fmt.Sprintf("%s %s %s", c.Service, c.Method, c.Path) }

// String adds the query and the status.
func (c Call) String() string {
	query := ""
	if c.Query != "" {
		query = "?" + c.Query
	}
	return fmt.Sprintf("%s%s %d", c.Name(), query, c.Status)
}

// IsWrite reports whether the call may change something.
func (c Call) IsWrite() bool { return c.Method != http.MethodGet && c.Method != http.MethodHead }

// IsLogin reports whether the call asks for a token.
func (c Call) IsLogin() bool {
	return c.Service == Keystone && c.Method == http.MethodPost && c.Path == "/v3/auth/tokens"
}

// Calls is a call log in order of arrival.
type Calls []Call

// Count returns how many calls there were of each name, see Call.Name.
func (c Calls) Count() map[string]int {
	count := map[string]int{}
	for _, call := range c {
		count[call.Name()]++
	}
	return count
}

// Logins counts the calls that asked for a token.
func (c Calls) Logins() int { return len(c.Where(Call.IsLogin)) }

// Where returns the calls that match.
func (c Calls) Where(match func(Call) bool) Calls {
	var out Calls
	for _, call := range c {
		if match(call) {
			out = append(out, call)
		}
	}
	return out
}

// MaxInFlight is the largest number of calls that were under way at once.
func (c Calls) MaxInFlight() int {
	most := 0
	for _, call := range c {
		most = max(most, call.InFlight)
	}
	return most
}

// String is the log as text, a line per call, for the message of a failed budget.
func (c Calls) String() string {
	var b strings.Builder
	for _, call := range c {
		fmt.Fprintf(&b, "%4d  %s\n", call.Seq, call)
	}
	return b.String()
}

// Summary is the log as text, a line per name with its count, sorted by name.
func (c Calls) Summary() string {
	count := c.Count()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "%4d  %s\n", count[name], name)
	}
	return b.String()
}
