package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInstances_Views(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"an interface of an instance lists its address as the primary one": {
			source: reference("InstanceNetworkInterface") + " and " + reference("InstancePrivateIpAddress"),
			check: func(t *testing.T, a *account) {
				id := a.run(a.launchpad())
				shown := a.do("DescribeInstances", "InstanceId.1", id)
				const addresses = instancePath + "networkInterfaceSet/item/privateIpAddressesSet/item/"
				assert.Equal(t, []string{shown.text(instancePath + "privateIpAddress")}, shown.texts(addresses+"privateIpAddress"))
				assert.Equal(t, []string{"true"}, shown.texts(addresses+"primary"))
				assert.Empty(t, shown.texts(instancePath+"ipAddress"))
			},
		},
		"a public address is that of the instance and of its interface": {
			source: reference("Instance") + " and " + reference("InstanceNetworkInterfaceAssociation"),
			check: func(t *testing.T, a *account) {
				l := a.launchpad()
				a.do("ModifySubnetAttribute", "SubnetId", l.subnet, "MapPublicIpOnLaunch.Value", "true")
				id := a.run(l)
				shown := a.do("DescribeInstances", "InstanceId.1", id)
				const associated = instancePath + "networkInterfaceSet/item/association/publicIp"
				assert.NotEmpty(t, shown.text(associated))
				assert.Equal(t, shown.texts(associated), shown.texts(instancePath+"ipAddress"))
			},
		},
		"types of instances without a topology are left out": {
			source: reference("DescribeInstanceTopology"),
			check: func(t *testing.T, a *account) {
				id := a.run(a.launchpad())
				assert.Empty(t, a.do("DescribeInstanceTopology", "InstanceId.1", id).texts("instanceSet/item/instanceId"))
				a.fails("InvalidInstanceID.NotFound", "DescribeInstanceTopology", "InstanceId.1", "i-0123456789abcdef0")
			},
		},
	})
}
