package inspect

import "time"

// State summarizes an object or a shoot.
type State string

const (
	// StateHealthy means that the last operation has succeeded, nothing is requested, and everything is as it should be.
	StateHealthy State = "Healthy"
	// StateProgressing means that a controller is at work, and nothing has failed.
	StateProgressing State = "Progressing"
	// StateUnhealthy means that something has failed, or that no controller serves a request.
	StateUnhealthy State = "Unhealthy"
)

// Report is what is known of one shoot. Its JSON form is an API: fields are only added.
type Report struct {
	Namespace string    `json:"namespace"`
	At        time.Time `json:"at"`
	State     State     `json:"state"`
	Objects   []Object  `json:"objects"`
	// Unread are errors of optional reads. What they concern is missing from the report.
	Unread []string `json:"unread,omitempty"`
}

// Object is one extension object.
type Object struct {
	Kind          string     `json:"kind"`
	Name          string     `json:"name"`
	Type          string     `json:"type"`
	State         State      `json:"state"`
	DeletedAt     *time.Time `json:"deletedAt,omitempty"`
	LastOperation *Operation `json:"lastOperation,omitempty"`
	LastError     *Error     `json:"lastError,omitempty"`
	// Request is a requested operation without a result.
	Request *Request `json:"request,omitempty"`
	// Conditions are those of all writers, the unhealthy ones first.
	Conditions []Condition `json:"conditions,omitempty"`
	// ManagedResources are those that the object's contract has deployed.
	ManagedResources *ManagedResources `json:"managedResources,omitempty"`
	// MachineDeployments and FailedMachines are set for a Worker.
	MachineDeployments []MachineDeployment `json:"machineDeployments,omitempty"`
	FailedMachines     []Machine           `json:"failedMachines,omitempty"`
	// Resources are those of the cloud, for an Infrastructure.
	Resources []Resource `json:"resources,omitempty"`
	// ResourcesError says why resources may be missing.
	ResourcesError string `json:"resourcesError,omitempty"`
}

// Operation is the last operation of an object.
type Operation struct {
	Type string `json:"type"`
	// State is Gardener's: Processing, Succeeded, Error, Failed, Pending, Aborted.
	State string `json:"state"`
	// Progress is in percent.
	Progress int32 `json:"progress"`
	// Description is what the controller does or waits for.
	Description string    `json:"description,omitempty"`
	At          time.Time `json:"at"`
}

// Error is the last error of an object.
type Error struct {
	Description string     `json:"description"`
	Codes       []string   `json:"codes,omitempty"`
	At          *time.Time `json:"at,omitempty"`
}

// Request is an operation that was requested by the creation, an annotation or the deletion of an object, and has no result yet.
type Request struct {
	Operation string     `json:"operation"`
	At        *time.Time `json:"at,omitempty"`
	// Unserved is true if a controller should have picked the request up by now.
	Unserved bool   `json:"unserved"`
	Message  string `json:"message"`
}

// Condition is a condition of an object.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Codes   []string  `json:"codes,omitempty"`
	Since   time.Time `json:"since"`
}

// ManagedResources are those of a contract.
type ManagedResources struct {
	Total    int                      `json:"total"`
	Problems []ManagedResourceProblem `json:"problems,omitempty"`
}

// ManagedResourceProblem is the problem of a ManagedResource.
type ManagedResourceProblem struct {
	Name string `json:"name"`
	// State is StateProgressing for what is not done yet.
	State State `json:"state"`
	// Problem is a clause without a subject, e.g. "is not applied".
	Problem string     `json:"problem"`
	Message string     `json:"message,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
}

// MachineDeployment has numbers of machines.
type MachineDeployment struct {
	Name    string `json:"name"`
	Wanted  int32  `json:"wanted"`
	Exist   int32  `json:"exist"`
	Ready   int32  `json:"ready"`
	Updated int32  `json:"updated"`
}

// isDone reports whether there is nothing to wait for.
func (d MachineDeployment) isDone() bool {
	return d.Exist == d.Wanted && d.Ready >= d.Wanted && d.Updated >= d.Wanted
}

// Machine is a machine that failed.
type Machine struct {
	Name       string `json:"name"`
	Deployment string `json:"deployment,omitempty"`
	Phase      string `json:"phase,omitempty"`
	// Operation is what failed: Create, Delete, HealthCheck and so on.
	Operation string    `json:"operation,omitempty"`
	Code      string    `json:"code,omitempty"`
	Message   string    `json:"message,omitempty"`
	At        time.Time `json:"at"`
}

// Origin says where a resource of the cloud is from.
type Origin string

const (
	// OriginUnknown means that nothing says so.
	OriginUnknown Origin = "Unknown"
	// OriginTrellis resources were created by Trellis and are deleted with the shoot.
	OriginTrellis Origin = "Trellis"
	// OriginAdopted resources are deleted with the shoot. The former extension created the shoot, and them unless they are newer.
	OriginAdopted Origin = "Adopted"
	// OriginFormerExtension resources were recorded by the former extension, and Trellis has not reconciled the shoot yet.
	OriginFormerExtension Origin = "FormerExtension"
	// OriginUser resources are given by the user and are never deleted.
	OriginUser Origin = "User"
	// OriginShared resources are of the cloud, for many users.
	OriginShared Origin = "Shared"
	// OriginWorkload resources were created for the shoot's workload, e.g. by its cloud-controller-manager.
	OriginWorkload Origin = "Workload"
)

// clause describes the origin for people.
func (o Origin) clause() string {
	switch o {
	case OriginTrellis:
		return "created by Trellis"
	case OriginAdopted:
		return "owned, in a shoot that the former extension created"
	case OriginFormerExtension:
		return "created by the former extension"
	case OriginUser:
		return "given by the user"
	case OriginShared:
		return "shared"
	case OriginWorkload:
		return "created for the workload"
	default:
		return "of unknown origin"
	}
}

// Resource is a resource of the cloud.
type Resource struct {
	// Kind is the cloud's word, e.g. "router".
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	// ID is empty for a resource that may or may not exist, see Note.
	ID string `json:"id,omitempty"`
	// Detail is a range or an address.
	Detail string `json:"detail,omitempty"`
	Origin Origin `json:"origin"`
	// Note is what is unusual about it.
	Note     string     `json:"note,omitempty"`
	Children []Resource `json:"children,omitempty"`
}

// Recorded is what an Infrastructure records of its resources, as JSON. Each part may be empty.
type Recorded struct {
	Config, Status, State []byte
}

// Cloud reads the resources of one type of Infrastructure.
type Cloud interface {
	// Resources returns the recorded resources as trees. It makes no calls. With an error, it returns what it could read.
	Resources(recorded Recorded) ([]Resource, error)
}
