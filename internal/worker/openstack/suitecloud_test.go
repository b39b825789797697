package openstack_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	cloudtransport "github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

// suiteCloud is the fake OpenStack for the suite.
type suiteCloud struct {
	fake  *fake.Cloud
	build func(*cloudopenstack.Sessions) worker.Driver
	zones []string

	mutex sync.Mutex
	// aliases are names for IDs of server groups, which differ between clouds.
	aliases map[string]string
}

var _ workertest.Cloud = (*suiteCloud)(nil)

func newSuiteCloud(
	shoot workertest.Identity, build func(*cloudopenstack.Sessions) worker.Driver, zones []string,
) (*suiteCloud, error) {
	c := &suiteCloud{fake: fake.New(), build: build, zones: zones, aliases: map[string]string{}}
	if err := c.fake.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	if err := c.createOthers(shoot); err != nil {
		return nil, errors.Join(err, c.fake.Close())
	}
	return c, nil
}

// createOthers creates server groups that are as similar to the shoot's as possible: of shoots whose technical IDs or
// UIDs begin alike, and of users.
func (c *suiteCloud) createOthers(shoot workertest.Identity) error {
	for _, name := range []string{
		shoot.TechnicalID, shoot.TechnicalID + "-first", shoot.TechnicalID + "-2-first-0123456789", shoot.TechnicalID + "first-0123456789",
		shoot.UID, shoot.UID[:17] + "0-0123abcd", shoot.UID[:18] + "-mine", "first",
	} {
		_, err := c.fake.CreateResource(fake.DefaultProject, "os-server-groups", fake.Attrs{"name": name, "policies": []string{"anti-affinity"}})
		if err != nil {
			return err
		}
	}
	return nil
}

// Inputs implements workertest.Cloud.
func (c *suiteCloud) Inputs() workertest.Inputs {
	version := openstackv1alpha1.GroupVersion().String()
	infrastructure := openstackv1alpha1.NewInfrastructureStatus()
	infrastructure.Networks.ID = "aaaaaaaa-0000-4000-8000-000000000001"
	infrastructure.Networks.Subnets = []openstackv1alpha1.Subnet{{Purpose: openstackv1alpha1.PurposeNodes, ID: "subnet"}}
	infrastructure.Node.KeyName = "key"
	infrastructure.SecurityGroups = []openstackv1alpha1.SecurityGroup{{Purpose: openstackv1alpha1.PurposeNodes, ID: "group", Name: "nodes"}}
	return workertest.Inputs{
		CloudProfileConfig: &openstackv1alpha1.CloudProfileConfig{
			TypeMeta:            metav1.TypeMeta{APIVersion: version, Kind: "CloudProfileConfig"},
			KeyStoneURL:         c.fake.AuthURL(),
			ServerGroupPolicies: []string{"anti-affinity"},
			MachineImages: []openstackv1alpha1.MachineImages{{
				Name: "gardenlinux", Versions: []openstackv1alpha1.MachineImageVersion{{Version: "1.0.0", Image: "gardenlinux"}},
			}},
		},
		InfrastructureStatus: infrastructure,
		Credentials: map[string][]byte{
			"domainName": []byte(fake.DefaultDomain),
			"tenantName": []byte(fake.DefaultProject),
			"username":   []byte(fake.DefaultUser),
			"password":   []byte(fake.DefaultPassword),
		},
		Pools: []extensionsv1alpha1.WorkerPool{suitePool("first", "nova"), suitePool("last", c.zones...)},
	}
}

func suitePool(name string, zones ...string) extensionsv1alpha1.WorkerPool {
	config := fmt.Sprintf(`{"apiVersion":%q,"kind":"WorkerConfig","serverGroup":{"policy":"anti-affinity"}}`, openstackv1alpha1.GroupVersion())
	return extensionsv1alpha1.WorkerPool{
		Name: name, MachineType: "m1.small", Zones: zones,
		MachineImage:   extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1.0.0"},
		ProviderConfig: &runtime.RawExtension{Raw: []byte(config)},
	}
}

// NewDriver implements workertest.Cloud.
func (c *suiteCloud) NewDriver(transport contracttest.Transport) (worker.Driver, error) {
	driver := c.build(cloudopenstack.NewSessions(cloudopenstack.Options{
		Transport: transport,
		QPS:       -1,
		Retry:     cloudtransport.RetryPolicy{FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond},
	}))
	return deterministicDriver{Driver: driver, cloud: c}, nil
}

// deterministicDriver is a driver whose hashes are the same in every cloud: they contain the ID of a server group, which is random. Another
// group with the same name is still another input.
type deterministicDriver struct {
	worker.Driver
	cloud *suiteCloud
}

func (d deterministicDriver) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	machines, err := d.Driver.Machines(shoot, status, pool)
	if err == nil {
		for i, data := range machines.HashData {
			machines.HashData[i] = d.cloud.alias(data)
		}
	}
	return machines, err
}

// alias returns the name of a server group, with its index among those of the name. Other values are not changed.
func (c *suiteCloud) alias(id string) string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if known := c.aliases[id]; known != "" {
		return known
	}
	for _, group := range c.fake.State(fake.DefaultProject).ServerGroups {
		if group.ID != id {
			continue
		}
		nth := 1
		for _, known := range c.aliases {
			if strings.HasPrefix(known, group.Name+" ") {
				nth++
			}
		}
		c.aliases[id] = fmt.Sprintf("%s %d", group.Name, nth)
		return c.aliases[id]
	}
	return id
}

// Resources implements workertest.Cloud.
func (c *suiteCloud) Resources() ([]workertest.Resource, error) {
	var resources []workertest.Resource
	for _, group := range c.fake.State(fake.DefaultProject).ServerGroups {
		resources = append(resources, workertest.Resource{Kind: "server group", ID: group.ID, Name: group.Name, Facts: group.Policy})
	}
	return resources, nil
}

// Close implements workertest.Cloud.
func (c *suiteCloud) Close() error { return c.fake.Close() }
