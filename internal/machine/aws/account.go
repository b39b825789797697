package aws

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// account is the state that all machines of an account share.
type account struct {
	client

	// byName and byID find instances. Names are visible some seconds later than IDs.
	byName, byID *machineprocess.Coalescer[cloudaws.Instance]
	// statuses are the instances of machines that are to be created next, and created the instance of each that is to be initialized next.
	statuses machineprocess.Memo[[]cloudaws.Instance]
	created  machineprocess.Memo[cloudaws.Instance]
	// launches and ends are how long instances take.
	launches, ends machineprocess.WaitTimes

	flights     singleflight.Group
	mu          sync.Mutex
	rootDevices map[string]string // by ID of the image, which never changes
}

func newAccount(c client) *account {
	coalescer := func(nameOf func(cloudaws.Instance) string, filter func(values []string) cloudaws.InstanceFilter) *machineprocess.Coalescer[cloudaws.Instance] {
		return &machineprocess.Coalescer[cloudaws.Instance]{
			Timeout: machineprocess.LookUpTimeout, NameOf: nameOf,
			List: func(ctx context.Context, values []string) (all []cloudaws.Instance, _ error) {
				for some := range slices.Chunk(values, cloudaws.MaxFilterValues) {
					found, err := c.ListInstances(ctx, filter(some))
					if err != nil {
						return nil, fmt.Errorf("listing instances: %w", err)
					}
					all = append(all, found...)
				}
				return all, nil
			},
		}
	}
	return &account{
		client: c, rootDevices: map[string]string{},
		byName: coalescer(nameOf, func(names []string) cloudaws.InstanceFilter { return cloudaws.InstanceFilter{Names: names} }),
		byID: coalescer(func(i cloudaws.Instance) string { return i.ID },
			func(ids []string) cloudaws.InstanceFilter { return cloudaws.InstanceFilter{IDs: ids} }),
	}
}

func nameOf(instance cloudaws.Instance) string { return instance.Tags[v1alpha1.TagName] }

// rootDevice returns the name of the root device of an image. It is looked up once.
func (a *account) rootDevice(ctx context.Context, imageID string) (string, error) {
	if name, known := a.knownRootDevice(imageID); known {
		return name, nil
	}
	return machineprocess.Shared(ctx, &a.flights, imageID, func(ctx context.Context) (string, error) {
		if name, known := a.knownRootDevice(imageID); known { // by a look-up that ended since the caller has looked
			return name, nil
		}
		image, err := a.GetImage(ctx, imageID)
		if err != nil {
			return "", fmt.Errorf("looking up image %s: %w", imageID, err)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.rootDevices[imageID] = image.RootDevice
		return image.RootDevice, nil
	})
}

func (a *account) knownRootDevice(imageID string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name, known := a.rootDevices[imageID]
	return name, known
}
