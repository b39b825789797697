package core

import "time"

// transition is the transition of one resource.
type transition struct {
	reads  int
	ready  time.Time
	finish func()
}

// BeginTransition starts a transition; finish runs with the lock, at once if there is nothing to wait for.
func (c *Cloud) BeginTransition(kind, id string, finish func(Transition)) {
	t := c.Config.Transitions[kind]
	if t.Reads == 0 && t.After == 0 {
		finish(t)
		return
	}
	c.pending[id] = &transition{reads: t.Reads, ready: time.Now().Add(t.After), finish: func() { finish(t) }}
}

// HasTransition reports whether resources of the kind change with a delay.
func (c *Cloud) HasTransition(kind string) bool {
	_, configured := c.Config.Transitions[kind]
	return configured
}

// CancelTransition ends the transition of a resource without its effect.
func (c *Cloud) CancelTransition(id string) { delete(c.pending, id) }

// FinishTransitions ends the transitions whose conditions hold. It runs at the start of each call.
func (c *Cloud) FinishTransitions() {
	now := time.Now() // whatever the cloud's clock shows
	for id, t := range c.pending {
		if t.reads <= 0 && !now.Before(t.ready) {
			delete(c.pending, id)
			t.finish()
		}
	}
}

// CountRead counts a response that contains the resource.
func (c *Cloud) CountRead(id string) {
	if t := c.pending[id]; t != nil {
		t.reads--
	}
}
