package core

import "time"

// Transition says how long a resource stays in its first status: until both conditions hold.
type Transition struct {
	// Polls is how many times the resource must be read.
	Polls int `json:"polls,omitempty"`
	// After is the minimum time.
	After time.Duration `json:"after,omitempty"`
	// Fail ends the transition in the kind's error status.
	Fail bool `json:"fail,omitempty"`
}

// The kinds of transitions.
const (
	ServerBuild        = "server-build"        // BUILD to ACTIVE; Fail: ERROR, with the fault "No valid host was found"
	ServerDelete       = "server-delete"       // until the server is gone
	LoadBalancerCreate = "loadbalancer-create" // PENDING_CREATE to ACTIVE; Fail: ERROR
	LoadBalancerUpdate = "loadbalancer-update" // PENDING_UPDATE to ACTIVE, also while its listeners and pools change
	LoadBalancerDelete = "loadbalancer-delete" // PENDING_DELETE until gone; Fail: ERROR
	RouterInterface    = "router-interface"    // the port is DOWN, then ACTIVE
	VolumeCreate       = "volume-create"       // creating to available; Fail: error
	VolumeDelete       = "volume-delete"       // deleting until gone; Fail: error_deleting
)

// transition is the transition of one resource.
type transition struct {
	polls  int
	ready  time.Time
	finish func()
}

// BeginTransition starts a transition; finish runs with the lock, at once if there is nothing to wait for.
func (c *Cloud) BeginTransition(kind, id string, finish func(failed bool)) {
	t := c.Config.transition(kind)
	if t.Polls == 0 && t.After == 0 {
		finish(t.Fail)
		return
	}
	c.pending[id] = &transition{polls: t.Polls, ready: time.Now().Add(t.After), finish: func() { finish(t.Fail) }}
}

// FinishTransitions ends the transitions whose conditions hold. It runs at the start of each call.
func (c *Cloud) FinishTransitions() {
	if len(c.pending) == 0 {
		return
	}
	now := time.Now() // whatever the cloud's clock shows
	for id, t := range c.pending {
		if t.polls <= 0 && !now.Before(t.ready) {
			delete(c.pending, id)
			t.finish()
		}
	}
}

// CountPoll counts a read of a resource.
func (c *Cloud) CountPoll(id string) {
	if t := c.pending[id]; t != nil {
		t.polls--
	}
}

// CancelTransition forgets the transition of a resource that is deleted.
func (c *Cloud) CancelTransition(id string) { delete(c.pending, id) }
