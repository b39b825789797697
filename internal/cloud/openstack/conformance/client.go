package conformance

func ownClient() []Behaviour {
	return []Behaviour{}
}
