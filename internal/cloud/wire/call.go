package wire

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Service names a service of a cloud, such as "neutron" or "ec2".
type Service string

// Call is one request that reached the cloud.
type Call struct {
	Seq     int     `json:"seq"` // 1 is the first since the last reset
	Service Service `json:"service"`
	Method  string  `json:"method"`
	// Path is normalized, so that calls for different resources have the same name: "/v2.0/routers/{id}/add_router_interface". In an API of actions
	// it is the name of the action: "DescribeVpcs".
	Path  string `json:"path"`
	Query string `json:"query,omitempty"`
	// ReadOnly marks a read whose method does not show it, as in APIs that use POST for all actions.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Login is true for a request of a token.
	Login bool `json:"login,omitempty"`
	// Status is the status of the response, also if the connection was dropped after the effect; 0 if it was dropped before.
	Status int `json:"status"`
	// Client is the address of the client, without a port, if the cloud's side knows it.
	Client string `json:"client,omitempty"`
	// InFlight is the number of running calls at the arrival of this one, including it.
	InFlight int `json:"inFlight"`
}

// Name is the call without query and status: "neutron POST /v2.0/networks".
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
func (c Call) IsWrite() bool {
	return c.Method != http.MethodGet && c.Method != http.MethodHead && !c.ReadOnly
}

// IsLogin reports whether the call requests a token.
func (c Call) IsLogin() bool { return c.Login }

// Calls is a call log in order of arrival.
type Calls []Call

// Count returns the number of calls of each name, see Call.Name.
func (c Calls) Count() map[string]int {
	count := map[string]int{}
	for _, call := range c {
		count[call.Name()]++
	}
	return count
}

// Logins counts the calls that request a token.
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

// MaxInFlight is the maximum number of concurrent calls.
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
