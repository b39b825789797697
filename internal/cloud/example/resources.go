package example

// Network is a network.
type Network struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name"`
	Owner string `json:"owner"`
}

// Subnet is a subnet of a network.
type Subnet struct {
	ID      string `json:"id,omitempty"`
	Name    string `json:"name"`
	Owner   string `json:"owner"`
	Network string `json:"network"` // ID
	CIDR    string `json:"cidr"`
}

// Group is a group of servers, which the cloud places on different hosts.
type Group struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name"`
	Owner string `json:"owner"`
}

// Server is a virtual machine. It runs when the call that creates it returns.
type Server struct {
	ID          string `json:"id,omitempty"`
	Name        string `json:"name"`
	Owner       string `json:"owner"`
	Zone        string `json:"zone"`
	Network     string `json:"network"`         // ID
	Group       string `json:"group,omitempty"` // ID
	MachineType string `json:"machineType"`
	Image       string `json:"image"`
	Feature     bool   `json:"feature,omitempty"`
	UserData    []byte `json:"userData,omitempty"` // not in lists
}

// Networks returns the networks of the account.
func (s *Session) Networks() Collection[Network] { return Collection[Network]{s, "networks"} }

// Subnets returns the subnets of the account.
func (s *Session) Subnets() Collection[Subnet] { return Collection[Subnet]{s, "subnets"} }

// Groups returns the groups of the account.
func (s *Session) Groups() Collection[Group] { return Collection[Group]{s, "groups"} }

// Servers returns the servers of the account.
func (s *Session) Servers() Collection[Server] { return Collection[Server]{s, "servers"} }
