package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InfrastructureStatus is the output of the Infrastructure controller for the controllers of ControlPlane and Worker
// (Infrastructure.status.providerStatus). It is read by controllers of other versions and by the upstream extension, so a field never changes its
// meaning.
//
// +kubebuilder:object:root=true
type InfrastructureStatus struct {
	metav1.TypeMeta `json:",inline"`

	// EC2 describes what machines need besides network and role.
	EC2 EC2 `json:"ec2"`
	// IAM describes the role of the nodes.
	IAM IAM `json:"iam"`
	// VPC describes the network of the nodes, created or existing.
	VPC VPCStatus `json:"vpc"`
	// ElasticFileSystem is the elastic file system, if there is one.
	// +optional
	ElasticFileSystem ElasticFileSystemStatus `json:"elasticFileSystem,omitzero"`
}

// EC2 describes what machines need besides network and role.
type EC2 struct {
	// KeyName is the name of the key pair. It is empty for a shoot without SSH access.
	KeyName string `json:"keyName"`
}

// IAM describes the role of the nodes.
type IAM struct {
	// InstanceProfiles are the instance profiles, one of each purpose at most.
	InstanceProfiles []InstanceProfile `json:"instanceProfiles"`
	// Roles are the roles, one of each purpose at most.
	Roles []Role `json:"roles"`
}

// InstanceProfile is an IAM instance profile.
type InstanceProfile struct {
	// Purpose is the purpose of the instance profile.
	Purpose Purpose `json:"purpose"`
	// Name is the name of the instance profile.
	Name string `json:"name"`
}

// Role is an IAM role.
type Role struct {
	// Purpose is the purpose of the role.
	Purpose Purpose `json:"purpose"`
	// ARN is the role's ARN.
	ARN string `json:"arn"`
}

// VPCStatus describes the VPC of the shoot, created or existing.
type VPCStatus struct {
	// ID is the VPC's ID.
	ID string `json:"id"`
	// Subnets are the subnets in use, one of each purpose in each zone at most.
	Subnets []Subnet `json:"subnets"`
	// SecurityGroups are the security groups in use, one of each purpose at most.
	SecurityGroups []SecurityGroup `json:"securityGroups"`
}

// Purpose is the purpose of a subnet, security group, role or instance profile.
type Purpose string

// Purposes of subnets, security groups, roles and instance profiles.
const (
	PurposeNodes    Purpose = "nodes"    // for the nodes
	PurposePublic   Purpose = "public"   // for public load balancers; of subnets only
	PurposeInternal Purpose = "internal" // for internal load balancers; of subnets only
)

// Subnet is a subnet of the VPC.
type Subnet struct {
	// Purpose is the purpose of the subnet.
	Purpose Purpose `json:"purpose"`
	// ID is the subnet's ID.
	ID string `json:"id"`
	// Zone is the name of the subnet's availability zone.
	Zone string `json:"zone"`
}

// SecurityGroup is a security group of the VPC.
type SecurityGroup struct {
	// Purpose is the purpose of the security group.
	Purpose Purpose `json:"purpose"`
	// ID is the security group's ID.
	ID string `json:"id"`
}

// ElasticFileSystemStatus is the elastic file system of a shoot.
type ElasticFileSystemStatus struct {
	// ID is the file system's ID.
	ID string `json:"ID"`
}
