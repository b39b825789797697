package openstack

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/inspect"
)

// recorded is what is known of a shoot's resources.
type recorded struct {
	*record.Record
	config openstackv1alpha1.InfrastructureConfig
	status openstackv1alpha1.InfrastructureStatus
	// hasState is false if there is no readable state.
	hasState bool
}

// decode reads all parts, whatever the errors. The state is completed from the status, as the driver does.
func decode(from inspect.Recorded) (recorded, []error) {
	r := recorded{Record: record.New(record.Keys{
		Intents: openstackv1alpha1.StateKeyIntents, Owners: openstackv1alpha1.StateKeyOwnership,
		UncertainCreates: openstackv1alpha1.StateKeyUncertainCreates,
	})}
	var errs []error
	if err := r.decodeState(from.State); err != nil {
		errs = append(errs, fmt.Errorf("reading status.state: %w", err))
	}
	for _, part := range []struct {
		field string
		raw   []byte
		into  any
	}{{"status.providerStatus", from.Status, &r.status}, {"spec.providerConfig", from.Config, &r.config}} {
		if len(part.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(part.raw, part.into); err != nil {
			errs = append(errs, fmt.Errorf("reading %s: %w", part.field, err))
		}
	}
	r.complete()
	return r, errs
}

// decodeState ignores a state of another format, e.g. Terraform's.
func (r *recorded) decodeState(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	var typeMeta metav1.TypeMeta
	if err := json.Unmarshal(raw, &typeMeta); err != nil {
		return err
	}
	r.hasState = true
	if !strings.HasPrefix(typeMeta.APIVersion, openstackv1alpha1.GroupName+"/") {
		return nil
	}
	var state openstackv1alpha1.InfrastructureState
	err := json.Unmarshal(raw, &state)
	if err == nil {
		err = r.Decode(state.Data)
	}
	r.hasState = err == nil
	return err
}

// complete adds what the state lacks from the status.
func (r *recorded) complete() {
	networks := r.status.Networks
	facts := map[string]string{
		openstackv1alpha1.StateKeyNetwork:             networks.ID,
		openstackv1alpha1.StateKeyNetworkName:         networks.Name,
		openstackv1alpha1.StateKeyFloatingNetwork:     networks.FloatingPool.ID,
		openstackv1alpha1.StateKeyFloatingNetworkName: networks.FloatingPool.Name,
		openstackv1alpha1.StateKeyRouter:              networks.Router.ID,
		openstackv1alpha1.StateKeyKeyPair:             r.status.Node.KeyName,
	}
	if share := networks.ShareNetwork; share != nil {
		facts[openstackv1alpha1.StateKeyShareNetwork], facts[openstackv1alpha1.StateKeyShareNetworkName] = share.ID, share.Name
	}
	for _, s := range subnets() {
		facts[string(s.kind)] = r.subnet(s.purpose).ID
	}
	for _, group := range r.status.SecurityGroups {
		if group.Purpose == openstackv1alpha1.PurposeNodes {
			facts[openstackv1alpha1.StateKeySecurityGroup], facts[openstackv1alpha1.StateKeySecurityGroupName] = group.ID, group.Name
		}
	}
	for key, value := range facts {
		r.SetMissingFact(key, value)
	}
}

// subnet returns the subnet of that purpose in the status, or an empty one.
func (r *recorded) subnet(purpose openstackv1alpha1.Purpose) openstackv1alpha1.Subnet {
	for _, subnet := range r.status.Networks.Subnets {
		if subnet.Purpose == purpose {
			return subnet
		}
	}
	return openstackv1alpha1.Subnet{}
}

// fromUpstream reports whether only the upstream extension has written the state.
func (r *recorded) fromUpstream() bool {
	return r.hasState && r.OnlyData(func(key string) bool { return strings.HasPrefix(key, openstackv1alpha1.StateKeyPrefix) })
}

// origin says where the resource of a kind is from. The configuration decides where no owner is recorded, as in the driver.
func (r *recorded) origin(kind record.Kind) inspect.Origin {
	isAdopted := r.Fact(openstackv1alpha1.StateKeyAdopted) != ""
	switch owner := r.Owner(kind); {
	case owner == record.Given, owner == record.Unknown && r.isGiven(kind):
		return inspect.OriginUser
	case owner == record.Own && isAdopted:
		return inspect.OriginAdopted
	case owner == record.Own:
		return inspect.OriginTrellis
	case isAdopted, r.fromUpstream():
		return inspect.OriginFormerExtension
	default:
		return inspect.OriginUnknown
	}
}

// isGiven reports whether the configuration names the resource of a kind.
func (r *recorded) isGiven(kind record.Kind) bool {
	networks := r.config.Networks
	switch kind {
	case openstackv1alpha1.StateKeyNetwork:
		return networks.ID != nil
	case openstackv1alpha1.StateKeyRouter:
		return networks.Router != nil
	case openstackv1alpha1.StateKeySubnet:
		return networks.SubnetID != nil
	case openstackv1alpha1.StateKeySecurityGroup:
		return networks.SecurityGroupID != nil
	default:
		return false
	}
}
