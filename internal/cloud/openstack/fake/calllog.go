package fake

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Call is one request that reached the cloud.
type Call struct {
	Seq     int     `json:"seq"` // 1 is the first since the last reset
	Service Service `json:"service"`
	Method  string  `json:"method"`
	// Path is normalised: without the service's prefix, with {id} for IDs: "/v2.0/routers/{id}/add_router_interface".
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

// Writes reports whether the call may change something.
func (c Call) Writes() bool { return c.Method != http.MethodGet && c.Method != http.MethodHead }

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
	return without(c, func(call Call) bool { return !match(call) })
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

type callLog struct {
	mu       sync.Mutex
	calls    Calls
	epoch    int // grows with each reset, so that a late end does not hit a newer call
	inFlight int
	done     chan struct{} // closed when inFlight falls to zero; nil while it is zero
}

// ticket finds a call in the log again.
type ticket struct {
	Call
	epoch int
}

func (l *callLog) begin(call Call) ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight++
	if l.done == nil {
		l.done = make(chan struct{})
	}
	call.Seq, call.InFlight = len(l.calls)+1, l.inFlight
	l.calls = append(l.calls, call)
	return ticket{Call: call, epoch: l.epoch}
}

func (l *callLog) end(t ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.epoch == l.epoch {
		l.calls[t.Seq-1].Status = t.Status
	}
	if l.inFlight--; l.inFlight == 0 {
		close(l.done)
		l.done = nil
	}
}

// idle returns nil when nothing is in flight, and otherwise a channel that is closed when that is so.
func (l *callLog) idle() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}

// Log returns a copy of the calls since the last reset. A call is in it from its arrival on, with status 0 until its end.
func (c *Cloud) Log() Calls {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return slices.Clone(c.log.calls)
}

// ResetLog empties the call log.
func (c *Cloud) ResetLog() {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.log.calls, c.log.epoch = nil, c.log.epoch+1
}

// Logins counts the logins since the last reset.
func (c *Cloud) Logins() int { return c.Log().Logins() }
