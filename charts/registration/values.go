package registration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/charts"
)

// Values are those of a chart, as decoded from YAML or JSON.
type Values = map[string]any

// secondaryConcurrency is how many objects a secondary observes at the same time, unless an option says otherwise. It has time, and nobody waits for it.
const secondaryConcurrency = 2

// values are what the chart is installed with: what the catalogue says, and over it what the options say.
func (e Entry) values(o Options) ([]byte, error) {
	values := Values{"types": e.Types}
	if e.Role == RoleSecondary {
		values["role"], values["concurrentSyncs"] = RoleSecondary, secondaryConcurrency
		if len(e.Observations) > 0 {
			values["observations"] = e.Observations
		}
	}
	if e.LeaderElectionID != e.defaultLeaderElectionID() {
		values["leaderElection"] = Values{"id": e.LeaderElectionID}
	}
	if e.HeartbeatNamespace != "" {
		values["heartbeat"] = Values{"namespace": e.HeartbeatNamespace}
	}
	for binary, place := range e.images() {
		if image := o.image(binary); len(image) > 0 {
			merge(values, nest(image, place...))
		}
	}
	owned := [][]string{{"types"}, {"role"}, {"leaderElection", "id"}, {"heartbeat", "namespace"}}
	for _, given := range []struct {
		flag   string
		values Values
	}{{"values for all registrations", o.Values}, {"values for " + e.Name, o.ValuesOf[e.Name]}} {
		if err := refuseOwned(given.values, owned); err != nil {
			return nil, fmt.Errorf("%s: %w", given.flag, err)
		}
		if err := refuseUnknown(given.values, e.Chart); err != nil {
			return nil, fmt.Errorf("%s: %w", given.flag, err)
		}
		merge(values, given.values)
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encoding values of %s: %w", e.Name, err)
	}
	return encoded, nil
}

// image says where a binary's image comes from, as far as it is not where the charts say.
func (o Options) image(binary string) Values {
	image := Values{}
	if o.ImageRepository != "" {
		image["repository"] = o.ImageRepository + "/" + binary
	}
	if digest := o.ImageDigests[binary]; digest != "" {
		image["digest"] = digest
	}
	return image
}

// images returns the path in the values of the chart of each image of Trellis that it deploys, by binary. A primary for Worker has a machine controller for
// each type, one for Network the agent and the service router of gardenet.
func (e Entry) images() map[string][]string {
	images := map[string][]string{e.Chart: {"image"}}
	if e.Role == RoleSecondary {
		return images
	}
	if e.Chart == "network-controller" && slices.Contains(e.Types, "gardenet") {
		images["gardenet-agent"] = []string{"gardenetAgent", "image"}
		images["gardenet-service-router"] = []string{"gardenetServiceRouter", "image"}
	}
	if e.Chart == "worker-controller" {
		for _, providerType := range e.Types {
			images["machine-controller-"+providerType] = []string{"machineController", "images", providerType}
		}
	}
	return images
}

// Binaries lists all that have an image, sorted.
func (c Catalogue) Binaries() []string {
	var all []string
	for _, e := range c.Registrations {
		all = slices.AppendSeq(all, maps.Keys(e.images()))
	}
	if c.Admission != nil {
		all = append(all, admissionBinary)
	}
	if c.Installer != nil {
		all = append(all, installerBinary)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// extraValues are those of what fulfils no extension objects: what the catalogue says, and over it what the options say of that name alone.
func (o Options) extraValues(name, binary, chart string, types []string) ([]byte, error) {
	values := Values{"types": types}
	if image := o.image(binary); len(image) > 0 {
		values["image"] = image
	}
	given := o.ValuesOf[name]
	if err := refuseOwned(given, [][]string{{"types"}}); err != nil {
		return nil, fmt.Errorf("values for %s: %w", name, err)
	}
	if err := refuseUnknown(given, chart); err != nil {
		return nil, fmt.Errorf("values for %s: %w", name, err)
	}
	merge(values, given)
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encoding values of %s: %w", name, err)
	}
	return encoded, nil
}

// refuseOwned refuses values that the catalogue decides: what is registered and what runs must not come from two places.
func refuseOwned(values Values, owned [][]string) error {
	for _, path := range owned {
		var at any = values
		for _, key := range path {
			mapping, ok := at.(Values)
			if !ok {
				at = nil
				break
			}
			at = mapping[key]
		}
		if at != nil {
			return fmt.Errorf("%s comes from charts/catalogue.yaml; remove it, or change it there", strings.Join(path, "."))
		}
	}
	return nil
}

// refuseUnknown refuses values that a chart does not have. The chart itself refuses only those that look like one of its own: it cannot tell what was
// given from what Gardener mixes in.
func refuseUnknown(values Values, chart string) error {
	known, err := charts.ValueNames(chart)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(values) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s: chart %s has no such value; it has %s", name, chart, strings.Join(known, ", "))
		}
	}
	return nil
}

// merge puts source over target, mapping by mapping, as Helm does.
func merge(target, source Values) {
	for key, value := range source {
		below, isMapping := value.(Values)
		existing, wasMapping := target[key].(Values)
		if isMapping && wasMapping {
			merge(existing, below)
		} else {
			target[key] = clone(value)
		}
	}
}

// clone keeps one entry's values from growing into another's.
func clone(value any) any {
	mapping, ok := value.(Values)
	if !ok {
		return value
	}
	copied := Values{}
	for key, below := range mapping {
		copied[key] = clone(below)
	}
	return copied
}

func nest(values Values, path ...string) Values {
	for _, key := range slices.Backward(path) {
		values = Values{key: values}
	}
	return values
}
