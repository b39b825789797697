package example

import (
	"context"
	"fmt"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/apis/example/validation"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
)

// userDataKey is the key of user data in a Secret, set by MCM.
const userDataKey = "userData"

// class is the content of a MachineClass and its Secret.
type class struct {
	cloud    cloudexample.Collection[cloudexample.Server]
	spec     *v1alpha1.MachineProviderSpec
	userData []byte
}

// readClass reads what is needed to find servers. ensureServer checks what is needed to create them.
func (d *Driver) readClass(object *machinev1alpha1.MachineClass, secret *corev1.Secret) (*class, error) {
	spec, err := v1alpha1.DecodeMachineProviderSpec(&object.ProviderSpec)
	if err != nil {
		return nil, cloud.Errorf(cloud.Configuration, "machine class %q: %w", object.Name, err)
	}
	if spec.Owner == "" { // a filter without an owner would select servers of others
		return nil, cloud.Errorf(cloud.Configuration, "machine class %q: providerSpec has no owner", object.Name)
	}
	credentials, err := cloudexample.ParseCredentials(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("reading the cloud credentials: %w", err)
	}
	session, err := d.sessions.Get(credentials)
	if err != nil {
		return nil, err
	}
	return &class{cloud: session.Servers(), spec: spec, userData: secret.Data[userDataKey]}, nil
}

// ensureServer returns the server of a machine, and creates it if there is none.
func (c *class) ensureServer(ctx context.Context, name string) (cloudexample.Server, error) {
	if err := validation.ValidateMachineProviderSpec(c.spec, field.NewPath("providerSpec")).ToAggregate(); err != nil {
		return cloudexample.Server{}, cloud.Errorf(cloud.Configuration, "the machine class cannot be used: %w", err)
	}
	existing, err := c.serversNamed(ctx, name)
	if err != nil {
		return cloudexample.Server{}, err
	}
	if len(existing) > 0 {
		return existing[0], nil
	}
	return c.cloud.Create(ctx, cloudexample.Server{
		Name: name, Owner: c.spec.Owner, Zone: c.spec.Zone, Network: c.spec.Network, Group: c.spec.Group,
		MachineType: c.spec.MachineType, Image: c.spec.Image, Feature: c.spec.Feature, UserData: c.userData,
	})
}

// removeServers deletes the servers of a machine. A machine with a provider ID and without a UID stands for one server that has no Machine: another
// server of its name may have one, and is kept.
func (c *class) removeServers(ctx context.Context, machine *machinev1alpha1.Machine) error {
	servers, err := c.serversNamed(ctx, machine.Name)
	if err != nil {
		return err
	}
	isOrphan := machine.UID == "" && machine.Spec.ProviderID != ""
	for _, server := range servers {
		if isOrphan && providerID(server) != machine.Spec.ProviderID {
			continue
		}
		if err := c.cloud.Delete(ctx, server.ID); err != nil && !cloud.IsNotFound(err) {
			return fmt.Errorf("server %s: %w", server.ID, err)
		}
	}
	return nil
}

// serversNamed lists the servers of a machine. There may be several if a request took effect after its timeout.
func (c *class) serversNamed(ctx context.Context, name string) ([]cloudexample.Server, error) {
	return c.cloud.List(ctx, cloudexample.Filter{Name: name, Owner: c.spec.Owner})
}

// allServers lists all servers of the shoot.
func (c *class) allServers(ctx context.Context) ([]cloudexample.Server, error) {
	return c.cloud.List(ctx, cloudexample.Filter{Owner: c.spec.Owner})
}

// providerID is the name of a server in Kubernetes.
func providerID(server cloudexample.Server) string { return "example:///" + server.ID }
