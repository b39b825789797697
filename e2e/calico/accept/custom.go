package accept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	calicoerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	customGroup = "crd.projectcalico.org"
	customPath  = "/apis/crd.projectcalico.org/v1"
)

func isCustom(object Object) bool { return object.GroupVersionKind().Group == customGroup }

// kind is a kind of objects that libcalico-go stores.
type kind struct {
	// sample returns an empty object.
	sample func() any
	// create decodes an object and creates it as calicoctl would: libcalico-go converts, validates, fills in defaults, and looks at
	// what there is already.
	create func(context.Context, clientv3.Interface, []byte) error
}

func kinds() map[string]kind {
	return map[string]kind{
		apiv3.KindBGPConfiguration:   kindOf(func(c clientv3.Interface) create[apiv3.BGPConfiguration] { return c.BGPConfigurations().Create }),
		apiv3.KindBGPFilter:          kindOf(func(c clientv3.Interface) create[apiv3.BGPFilter] { return c.BGPFilter().Create }),
		apiv3.KindBGPPeer:            kindOf(func(c clientv3.Interface) create[apiv3.BGPPeer] { return c.BGPPeers().Create }),
		apiv3.KindFelixConfiguration: kindOf(func(c clientv3.Interface) create[apiv3.FelixConfiguration] { return c.FelixConfigurations().Create }),
		apiv3.KindGlobalNetworkPolicy: kindOf(func(c clientv3.Interface) create[apiv3.GlobalNetworkPolicy] {
			return c.GlobalNetworkPolicies().Create
		}),
		apiv3.KindGlobalNetworkSet: kindOf(func(c clientv3.Interface) create[apiv3.GlobalNetworkSet] { return c.GlobalNetworkSets().Create }),
		apiv3.KindIPPool:           kindOf(func(c clientv3.Interface) create[apiv3.IPPool] { return c.IPPools().Create }),
		apiv3.KindKubeControllersConfiguration: kindOf(func(c clientv3.Interface) create[apiv3.KubeControllersConfiguration] {
			return c.KubeControllersConfiguration().Create
		}),
	}
}

type create[T any] func(context.Context, *T, options.SetOptions) (*T, error)

func kindOf[T any](choose func(clientv3.Interface) create[T]) kind {
	return kind{
		sample: func() any { return new(T) },
		create: func(ctx context.Context, client clientv3.Interface, raw []byte) error {
			object := new(T)
			if err := decodeStrict(raw, object); err != nil {
				return err
			}
			_, err := choose(client)(ctx, object, options.SetOptions{})
			return err
		},
	}
}

func knowsField(sample any, field string) bool {
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{field: nil}})
	return err == nil && decodeStrict(raw, sample) == nil
}

// checkCustomResources creates the objects of a rendering through libcalico-go, all in one cluster: overlapping pools are refused. What libcalico-go
// stores of a pool that assigns addresses must be what was rendered, which finds defaults that are not rendered.
func checkCustomResources(ctx context.Context, rendering Rendering, newer *NewerFeatures) ([]Problem, error) {
	server := newFakeAPIServer()
	defer server.close()
	config := apiconfig.NewCalicoAPIConfig()
	config.Spec.DatastoreType = apiconfig.Kubernetes
	config.Spec.K8sAPIEndpoint = server.server.URL
	client, err := clientv3.New(*config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	var problems []Problem
	for _, object := range rendering.ofGroup(customGroup) {
		kind, known := kinds()[object.GetKind()]
		if !known {
			if !newer.exempts(componentCustomResources, object.GetKind()) {
				problems = append(problems, Problem{object.String(), "kind", "unknown to libcalico-go"})
			}
			continue
		}
		converted, exempted := withoutNewer(object, newer)
		for _, field := range exempted {
			if knowsField(kind.sample(), field) {
				problems = append(problems, Problem{object.String(), "spec." + field, "on the list of what is newer, but " + version + " knows it"})
			}
		}
		raw, err := json.Marshal(converted)
		if err != nil {
			return nil, err
		}
		if err := kind.create(ctx, client, raw); err != nil {
			problems = append(problems, refusals(object, err)...)
			continue
		}
		if disabled, _, _ := unstructured.NestedBool(object.Object, "spec", "disabled"); object.GetKind() == apiv3.KindIPPool && !disabled {
			problems = append(problems, compareStored(object, converted, server)...)
		}
	}
	return problems, nil
}

// withoutNewer returns the object as Calico's clients see it, without the fields of spec that they need not know, and those.
func withoutNewer(object Object, newer *NewerFeatures) (converted map[string]any, exempted []string) {
	converted = clone(object.Object)
	converted["apiVersion"] = apiv3.GroupVersionCurrent
	spec, _ := converted["spec"].(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(spec)) {
		if newer.exempts(componentCustomResources, object.GetKind()+".spec."+field) {
			exempted = append(exempted, field)
			delete(spec, field)
		}
	}
	return converted, exempted
}

func refusals(object Object, err error) []Problem {
	var validation calicoerrors.ErrorValidation
	if !errors.As(err, &validation) {
		return []Problem{{object.String(), "spec", err.Error()}}
	}
	var problems []Problem
	for _, field := range validation.ErroredFields {
		problems = append(problems, Problem{object.String(), field.Name, fmt.Sprintf("%s: %v", field.Reason, field.Value)})
	}
	return problems
}

func compareStored(object Object, written map[string]any, server *fakeAPIServer) []Problem {
	for _, stored := range server.collection(poolsPath) {
		if nameOf(stored) != object.GetName() {
			continue
		}
		spec, _ := written["spec"].(map[string]any)
		kept, _ := stored["spec"].(map[string]any)
		var problems []Problem
		for _, field := range slices.Sorted(maps.Keys(union(spec, kept))) {
			isNo := spec[field] == false && kept[field] == nil // which Calico does not write
			if !isNo && !sameJSON(spec[field], kept[field]) {
				problems = append(problems, Problem{object.String(), "spec." + field, fmt.Sprintf("rendered is %v, Calico makes it %v", spec[field], kept[field])})
			}
		}
		return problems
	}
	return []Problem{{object.String(), "metadata.name", "Calico stores it under another name"}}
}

func union(some, others map[string]any) map[string]any {
	all := maps.Clone(some)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, others)
	return all
}

// sameJSON compares values whatever types of numbers they were decoded to.
func sameJSON(one, other any) bool {
	var decoded [2]any
	for i, value := range []any{one, other} {
		raw, err := json.Marshal(value)
		if err != nil || json.Unmarshal(raw, &decoded[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(decoded[0], decoded[1])
}
