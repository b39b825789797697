package aws

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// policy is a document of IAM.
type policy struct {
	Version   string      `json:"Version"`
	Statement []statement `json:"Statement"`
}

type statement struct {
	Effect    string            `json:"Effect"`
	Principal map[string]string `json:"Principal,omitempty"`
	Action    any               `json:"Action"`
	Resource  any               `json:"Resource,omitempty"`
}

const policyVersion = "2012-10-17"

// trustPolicy lets instances assume the role of nodes.
func trustPolicy(region string) string {
	service := "ec2.amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		service += ".cn"
	}
	return encodePolicy(statement{Effect: "Allow", Principal: map[string]string{"Service": service}, Action: "sts:AssumeRole"})
}

// nodesPolicy is what nodes may do.
func (p *plan) nodesPolicy() string {
	statements := []statement{{Effect: "Allow", Action: []string{"ec2:DescribeInstances"}, Resource: []string{"*"}}}
	if p.fileSystem.enabled {
		statements = append(statements, statement{Effect: "Allow", Resource: []string{"*"}, Action: []string{
			"elasticfilesystem:DescribeAccessPoints", "elasticfilesystem:DescribeFileSystems", "elasticfilesystem:DescribeMountTargets",
			"elasticfilesystem:CreateAccessPoint", "elasticfilesystem:DeleteAccessPoint", "elasticfilesystem:TagResource", "ec2:DescribeAvailabilityZones",
		}})
	}
	if p.ecrAccess {
		statements = append(statements, statement{Effect: "Allow", Resource: []string{"*"}, Action: []string{
			"ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:GetRepositoryPolicy",
			"ecr:DescribeRepositories", "ecr:ListImages", "ecr:BatchGetImage",
		}})
	}
	return encodePolicy(statements...)
}

func encodePolicy(statements ...statement) string {
	document, err := json.Marshal(policy{Version: policyVersion, Statement: statements})
	if err != nil {
		panic(fmt.Errorf("encoding a policy: %w", err)) //nolint:forbidigo // strings can be encoded
	}
	return string(document)
}

// samePolicy compares documents by their meaning: white space, and the order of keys, statements and actions do not matter.
func samePolicy(a, b string) bool {
	var one, other any
	return json.Unmarshal([]byte(a), &one) == nil && json.Unmarshal([]byte(b), &other) == nil && reflect.DeepEqual(inFixedOrder(one), inFixedOrder(other))
}

// inFixedOrder sorts the lists of a decoded JSON document.
func inFixedOrder(document any) any {
	switch document := document.(type) {
	case map[string]any:
		for key, one := range document {
			document[key] = inFixedOrder(one)
		}
	case []any:
		for i, one := range document {
			document[i] = inFixedOrder(one)
		}
		slices.SortFunc(document, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return document
}
