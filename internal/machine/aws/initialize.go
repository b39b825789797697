package aws

import (
	"context"
	"errors"
	"fmt"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// initialize sets what an instance cannot have in its create call, and returns the instance.
func (m *machine) initialize(ctx context.Context) (cloudaws.Instance, error) {
	instance, fresh := m.account.created.Take(m.name)
	if !fresh {
		instances, err := m.find(ctx)
		if err != nil {
			return cloudaws.Instance{}, err
		}
		var found bool
		if instance, found = m.choose(instances); !found {
			return instance, machineprocess.Failuref(codes.NotFound, "there is no instance for it")
		}
	}
	var problems []error
	for _, one := range instance.Interfaces {
		checks, prefixes := m.missingAt(one)
		if checks {
			if err := m.account.DisableSourceDestCheck(ctx, one.ID); err != nil {
				problems = append(problems, fmt.Errorf("disabling the source/destination check of interface %s: %w", one.ID, err))
			}
		}
		if prefixes > 0 {
			if _, err := m.account.AssignIPv6Prefixes(ctx, one.ID, prefixes); err != nil {
				problems = append(problems, fmt.Errorf("assigning IPv6 prefixes to interface %s: %w", one.ID, err))
			}
		}
	}
	return instance, errors.Join(problems...)
}

// missingAt reports whether the source/destination check of an interface is to be disabled, and how many IPv6 prefixes it lacks. Interfaces for EFA have no check.
func (m *machine) missingAt(one cloudaws.InstanceInterface) (disableCheck bool, prefixes int32) {
	wanted, found := m.class.interfaceAt(one.NetworkCardIndex, one.DeviceIndex)
	if !found {
		return false, 0
	}
	isEFA := one.Type == v1alpha1.InterfaceTypeEFA || one.Type == v1alpha1.InterfaceTypeEFAOnly
	disableCheck = one.SourceDestCheck && isFalse(m.class.SrcAndDstChecksEnabled) && !isEFA
	return disableCheck, max(deref(wanted.IPv6PrefixCount)-int32(len(one.IPv6Prefixes)), 0)
}

func (m *machine) isInitialized(instance cloudaws.Instance) bool {
	for _, one := range instance.Interfaces {
		if checks, prefixes := m.missingAt(one); checks || prefixes > 0 {
			return false
		}
	}
	return true
}
