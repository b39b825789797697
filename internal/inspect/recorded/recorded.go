// Package recorded reads what drivers of Infrastructures have recorded of a shoot's resources in the format of package record, and says where each resource is
// from. It is what the clouds of package inspect have in common. It makes no calls, and must not know a type, a driver or an SDK.
package recorded

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/inspect"
)

// Format is how one type records resources.
type Format struct {
	// Group is the API group of states.
	Group string
	// Prefix begins the keys that only Trellis writes.
	Prefix string
	// Adopted is the key of a fact for shoots that the former extension has recorded before.
	Adopted string
	// Keys are those of the record.
	Keys record.Keys
}

// Resources is what is recorded of a shoot's resources.
type Resources struct {
	*record.Record
	// IsGiven reports whether the configuration names the resource of a kind. It decides where no owner is recorded, as in drivers.
	IsGiven func(record.Kind) bool

	format Format
	// hasState is false if there is no readable state.
	hasState bool
}

// Decode reads all parts, whatever the errors: the state, and the status and the configuration into pointers.
func Decode(from inspect.Recorded, format Format, status, config any) (*Resources, error) {
	r := &Resources{Record: record.New(format.Keys), IsGiven: func(record.Kind) bool { return false }, format: format}
	var errs []error
	if err := r.decodeState(from.State); err != nil {
		errs = append(errs, fmt.Errorf("reading status.state: %w", err))
	}
	for _, part := range []struct {
		field string
		raw   []byte
		into  any
	}{{"status.providerStatus", from.Status, status}, {"spec.providerConfig", from.Config, config}} {
		if len(part.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(part.raw, part.into); err != nil {
			errs = append(errs, fmt.Errorf("reading %s: %w", part.field, err))
		}
	}
	return r, errors.Join(errs...)
}

// decodeState ignores a state of another format, e.g. Terraform's.
func (r *Resources) decodeState(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	var state struct {
		metav1.TypeMeta `json:",inline"`
		Data            json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return err
	}
	r.hasState = true
	if !strings.HasPrefix(state.APIVersion, r.format.Group+"/") || len(state.Data) == 0 {
		return nil
	}
	var data map[string]string
	err := json.Unmarshal(state.Data, &data)
	if err == nil {
		err = r.Decode(data)
	}
	r.hasState = err == nil
	return err
}

// fromFormerExtension reports whether only the former extension has written the state.
func (r *Resources) fromFormerExtension() bool {
	return r.hasState && r.OnlyData(func(key string) bool { return strings.HasPrefix(key, r.format.Prefix) })
}

// origin says where the resource of a kind is from.
func (r *Resources) origin(kind record.Kind) inspect.Origin {
	isAdopted := r.Fact(r.format.Adopted) != ""
	switch owner := r.Owner(kind); {
	case owner == record.Given, owner == record.Unknown && r.IsGiven(kind):
		return inspect.OriginUser
	case owner == record.Own && isAdopted:
		return inspect.OriginAdopted
	case owner == record.Own:
		return inspect.OriginTrellis
	case isAdopted, r.fromFormerExtension():
		return inspect.OriginFormerExtension
	default:
		return inspect.OriginUnknown
	}
}

// Resource returns the resource of a kind, or nothing if it neither is recorded nor may exist.
func (r *Resources) Resource(kind record.Kind, word, name, detail string) []inspect.Resource {
	found := inspect.Resource{Kind: word, Name: name, ID: r.ID(kind), Detail: detail, Origin: r.origin(kind)}
	intent := r.Intent(kind)
	since, isUncertain := r.UncertainSince(kind)
	switch {
	case isUncertain:
		found.Note = "the result of a creation is unknown since " + since.Format(time.RFC3339)
	case intent != "":
		found.Note = fmt.Sprintf("the creation of %q was about to begin", intent)
	case found.ID == "":
		return nil
	}
	if found.ID == "" {
		found.Detail, found.Origin = "", inspect.OriginTrellis
	}
	return []inspect.Resource{found}
}

// Below makes resources the children of the one in the list, or returns them if the list is empty.
func Below(parent, children []inspect.Resource) []inspect.Resource {
	if len(parent) == 0 {
		return children
	}
	parent[0].Children = children
	return parent
}
