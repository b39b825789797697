package ec2

// Quotas of the region, of a VPC, or of what their comment says.
const (
	QuotaVPCs               = "vpcs"
	QuotaIPv4Blocks         = "ipv4-blocks" // of a VPC
	QuotaIPv6Blocks         = "ipv6-blocks" // of a VPC
	QuotaSubnets            = "subnets"     // of a VPC
	QuotaInternetGateways   = "internet-gateways"
	QuotaEgressOnlyGateways = "egress-only-internet-gateways"
	QuotaRouteTables        = "route-tables" // of a VPC
	QuotaRoutes             = "routes"       // of a route table
	QuotaNATGateways        = "nat-gateways" // of a zone
	QuotaAddresses          = "elastic-ips"
	QuotaGroups             = "security-groups"
	QuotaRules              = "security-group-rules" // of a group, ingress and egress apart
	QuotaEndpoints          = "gateway-endpoints"
	QuotaInstances          = "instances" // as all below without a default: that depends on the account's history
	QuotaVCPUs              = "vcpus"     // of instances on demand
)

// DefaultQuotas are those of a new account, see https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html.
func DefaultQuotas() map[string]int {
	return map[string]int{
		QuotaVPCs: 5, QuotaIPv4Blocks: 5, QuotaIPv6Blocks: 5, QuotaSubnets: 200, QuotaInternetGateways: 5, QuotaEgressOnlyGateways: 5, QuotaRouteTables: 200,
		QuotaRoutes: 500, QuotaNATGateways: 5, QuotaAddresses: 5, QuotaGroups: 2500, QuotaRules: 60, QuotaEndpoints: 20,
	}
}

// QuotaCapacity limits the instances that a zone has hardware for, whoever owns them.
func QuotaCapacity(zone string) string { return "capacity of " + zone }
