// Package openstack brings shoots and the OpenStack stand-in together: it writes the configuration that users and admins
// would write for that cloud, and draws what came of it. It must not know how an infrastructure is made.
package openstack

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// Type is the provider type of the shoots.
const Type = "openstack"

// Account is a user of the cloud in one of its projects.
type Account struct{ Project, User, Password string }

// DefaultAccount is the one that every cloud has.
func DefaultAccount() Account {
	return Account{Project: fake.DefaultProject, User: fake.DefaultUser, Password: fake.DefaultPassword}
}

// AddAccount makes an account whose project has the given name.
func AddAccount(cloud *fake.Cloud, name string) (Account, error) {
	account := Account{Project: name, User: name + "-user", Password: name + "-password"}
	cloud.AddProject(account.Project)
	_, err := cloud.AddUser(account.User, account.Password, account.Project)
	return account, err
}

// Credentials is the data of the Secret that a user keeps in the garden.
func (a Account) Credentials() map[string][]byte {
	return map[string][]byte{
		"domainName": []byte(fake.DefaultDomain),
		"tenantName": []byte(a.Project),
		"username":   []byte(a.User),
		"password":   []byte(a.Password),
	}
}

// NewShoot returns a shoot in the cloud that has everything made for it: network, subnet, router, security group, key pair.
func NewShoot(name string, cloud *fake.Cloud, account Account) *gardenlet.Shoot {
	shoot := gardenlet.NewShoot(name, Type, fake.DefaultRegion)
	shoot.Credentials = account.Credentials()
	shoot.InfrastructureConfig = InfrastructureConfig()
	shoot.CloudProfileConfig = &openstackv1alpha1.CloudProfileConfig{
		TypeMeta:    typeMeta("CloudProfileConfig"),
		KeyStoneURL: cloud.AuthURL(),
		Constraints: openstackv1alpha1.Constraints{
			FloatingPools:         []openstackv1alpha1.FloatingPool{{Name: "*"}},
			LoadBalancerProviders: []openstackv1alpha1.LoadBalancerProvider{{Name: "amphora"}},
		},
		DNSServers:    []string{"1.1.1.1", "9.9.9.9"},
		MachineImages: []openstackv1alpha1.MachineImages{},
	}
	return shoot
}

// InfrastructureConfig is the configuration of a shoot that brings nothing of its own.
func InfrastructureConfig() *openstackv1alpha1.InfrastructureConfig {
	return &openstackv1alpha1.InfrastructureConfig{
		TypeMeta:         typeMeta("InfrastructureConfig"),
		FloatingPoolName: fake.ExternalNetwork,
		Networks:         openstackv1alpha1.Networks{Workers: "10.250.0.0/19"},
	}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: kind}
}
