package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	services, err := Load()
	require.NoError(t, err)
	tests := map[string]struct {
		signingName, version string
		protocol             Protocol
		operations           int // at least
	}{
		"ec2":   {"ec2", "2016-11-15", EC2, 70},
		"efs":   {"elasticfilesystem", "2015-02-01", RESTJSON, 11},
		"iam":   {"iam", "2010-05-08", Query, 12},
		"elb":   {"elasticloadbalancing", "2012-06-01", Query, 3},
		"elbv2": {"elasticloadbalancing", "2015-12-01", Query, 5},
		"sts":   {"sts", "2011-06-15", Query, 2},
	}
	require.Len(t, services, len(tests))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			service := services[name]
			assert.Equal(t, test.signingName, service.SigningName)
			assert.Equal(t, test.version, service.Version)
			assert.Equal(t, test.protocol, service.Protocol)
			assert.GreaterOrEqual(t, len(service.Operations), test.operations)
			assert.Equal(t, test.protocol == RESTJSON, service.XMLNamespace == "")
			for _, operation := range service.Operations {
				assert.Equal(t, test.protocol == RESTJSON, operation.HTTP.URI != "", operation.Name)
			}
		})
	}
	assert.Contains(t, services["ec2"].Operations["DescribeVpcs"].Filters, "cidr-block-association.cidr-block")
	assert.Equal(t, 404, services["iam"].Operations["GetRole"].Errors["NoSuchEntity"])
	assert.Equal(t, 409, services["efs"].Operations["DeleteFileSystem"].Errors["FileSystemInUse"], "without a code its code is its name")
	assert.Equal(t, HTTP{"DELETE", "/2015-02-01/file-systems/{FileSystemId}", 204}, services["efs"].Operations["DeleteFileSystem"].HTTP)
	assert.Equal(t, InURI, services["efs"].Operations["DeleteFileSystem"].Input.Members["FileSystemId"].Location)
	assert.Contains(t, services["efs"].Operations["CreateMountTarget"].Input.Members, "IpAddressType", "it is newer than the model")
	assert.Equal(t, "ClientToken", services["ec2"].Operations["CreateNatGateway"].TokenMember())
	assert.Equal(t, "ClientToken", services["ec2"].Operations["CreateVpcEndpoint"].TokenMember())
	assert.Empty(t, services["ec2"].Operations["CreateVpc"].TokenMember())
	assert.Empty(t, services["sts"].Operations["GetCallerIdentity"].TokenMember())
}

func TestParse(t *testing.T) {
	service, err := Parse("trees", []byte(`{"metadata": {"protocol": "query"}, "operations": {"Grow": {"input": {"shape": "Tree"}}}, "shapes": {
		"Tree": {"type": "structure", "members": {"Name": {"shape": "Name", "locationName": "name"}, "Children": {"shape": "Trees"}}},
		"Trees": {"type": "list", "member": {"shape": "Tree"}}, "Name": {"type": "string", "enum": ["oak"]}}}`))
	require.NoError(t, err)
	tree := service.Operations["Grow"].Input
	assert.Same(t, tree, tree.Members["Children"].Shape.Item.Shape, "shapes are recursive")
	assert.Equal(t, "name", tree.Members["Name"].LocationName)
	assert.Nil(t, service.Operations["Grow"].Output)

	for sentence, text := range map[string]string{
		"a shape that does not exist": `{"operations": {"Grow": {"input": {"shape": "Tree"}}}}`,
		"no JSON":                     `{`,
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := Parse("trees", []byte(text))
			assert.Error(t, err)
		})
	}
}
