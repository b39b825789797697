package conformance

func ports() []Behaviour {
	return []Behaviour{}
}
