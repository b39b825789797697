// Package record keeps what a driver has to know of a shoot's resources when the next process continues: their IDs and owners, which creations were
// intended, and which have an unknown result. All of it is encoded as strings in a map, the form in which upstream's drivers keep their state.
// It must not depend on a cloud.
//
// A resource that gets a mark of its owner in the create call needs no intent if the mark can be searched for. A resource without one needs an intent
// that is stored before the call. A creation whose response was lost has an unknown result: it may take effect long after.
package record

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Kind is a kind of resource of which a shoot has one. Its value is the key of the ID in the encoded map.
type Kind string

// Owner is the owner of a resource.
type Owner string

const (
	// Unknown is the owner of resources that were recorded without one, e.g. by upstream's driver.
	Unknown Owner = ""
	// Own resources are deleted with the shoot.
	Own Owner = "own"
	// Given resources belong to the user and are never deleted.
	Given Owner = "given"
)

// Keys are the keys of the encoded map that are not kinds or facts. They are constant for all versions of a driver.
type Keys struct {
	Intents, Owners, UncertainCreates string
}

// Record is a driver's record of one shoot. It is safe for concurrent use.
type Record struct {
	keys Keys

	mutex            sync.Mutex
	data             map[string]string
	owners           map[Kind]Owner
	intents          map[Kind]string
	uncertainCreates map[Kind]string // the time in RFC 3339
}

// New returns an empty record.
func New(keys Keys) *Record {
	return &Record{
		keys: keys, data: map[string]string{}, owners: map[Kind]Owner{}, intents: map[Kind]string{}, uncertainCreates: map[Kind]string{},
	}
}

// Empty reports whether nothing was ever recorded.
func (r *Record) Empty() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.data) == 0 && len(r.intents) == 0
}

// OnlyData reports whether there are only IDs and facts, none of which has a key that ours selects: then another driver wrote the record.
func (r *Record) OnlyData(ours func(key string) bool) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for key := range r.data {
		if ours(key) {
			return false
		}
	}
	return len(r.data) > 0 && len(r.intents)+len(r.owners)+len(r.uncertainCreates) == 0
}

// Fact returns the recorded value of a key, or an empty string.
func (r *Record) Fact(key string) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.data[key]
}

// SetFact records a fact; an empty value removes it.
func (r *Record) SetFact(key, value string) {
	r.ChangeFact(key, func(string) string { return value })
}

// SetMissingFact records a fact unless one is recorded.
func (r *Record) SetMissingFact(key, value string) {
	r.ChangeFact(key, func(known string) string {
		if known != "" {
			return known
		}
		return value
	})
}

// ChangeFact replaces a fact by the result of a function of it, atomically. An empty result removes it.
func (r *Record) ChangeFact(key string, change func(known string) string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if value := change(r.data[key]); value != "" {
		r.data[key] = value
	} else {
		delete(r.data, key)
	}
}

// ID returns the recorded ID of the shoot's resource of that kind, or an empty string.
func (r *Record) ID(k Kind) string { return r.Fact(string(k)) }

// Owner returns the recorded owner of the resource.
func (r *Record) Owner(k Kind) Owner {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.owners[k]
}

// Intent returns the name of the resource that was about to be created when the record was stored, or an empty string.
func (r *Record) Intent(k Kind) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.intents[k]
}

// RecordIntent records that a resource of that name is about to be created.
func (r *Record) RecordIntent(k Kind, name string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.intents[k] = name
}

// RecordResource records a resource and removes the intent. A given resource never becomes the shoot's own.
func (r *Record) RecordResource(k Kind, id string, owner Owner) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.data[string(k)] == id && r.owners[k] == Given {
		owner = Given
	}
	r.data[string(k)] = id
	r.owners[k] = owner
	delete(r.intents, k)
}

// Forget removes everything recorded of the kind, and the facts that depend on it.
func (r *Record) Forget(k Kind, facts ...string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.data, string(k))
	delete(r.owners, k)
	delete(r.intents, k)
	for _, key := range facts {
		delete(r.data, key)
	}
}

// Intended returns the kinds with an intent.
func (r *Record) Intended() []Kind {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Sorted(maps.Keys(r.intents))
}

// Withdraw removes an intent whose resource was not created.
func (r *Record) Withdraw(k Kind) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.intents, k)
}

// MarkUncertain records that the result of a creation is unknown.
func (r *Record) MarkUncertain(k Kind, now time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.uncertainCreates[k] = now.UTC().Format(time.RFC3339Nano)
}

// ClearUncertain records that the result of a creation is known.
func (r *Record) ClearUncertain(k Kind) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.uncertainCreates, k)
}

// IsUncertain reports whether the result of a creation is unknown.
func (r *Record) IsUncertain(k Kind) bool {
	_, uncertain := r.UncertainSince(k)
	return uncertain
}

// UncertainSince returns since when the result of a creation is unknown, and whether it is. The time is zero if it cannot be parsed.
func (r *Record) UncertainSince(k Kind) (time.Time, bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	text, uncertain := r.uncertainCreates[k]
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, uncertain
	}
	return since, uncertain
}

// MayHaveMore reports whether there may be more resources of a kind than the recorded one.
func (r *Record) MayHaveMore(k Kind) bool { return r.Intent(k) != "" || r.IsUncertain(k) }
