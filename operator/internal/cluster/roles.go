package cluster

import "commitlab.dev/operator/api/v1alpha1"

// roles are the labels that say who serves as what; Services lead clients by them.
func (v *View) roles() map[string]string {
	labels := map[string]string{}
	moving := v.isMoving()
	for i := range v.Servers {
		s := &v.Servers[i]
		labels[s.Name] = v.roleOf(s)
		if moving && s.Reachable && !v.keptOut(s) {
			labels[s.Name] = s.Label
		}
	}
	return labels
}

// isMoving: a switchover demotes the master, and the new one does not take writes yet. Until it does, all stay where clients find
// them: the former master sends away who comes, which is as good as nobody there, and clients are led elsewhere once, not twice.
func (v *View) isMoving() bool {
	s := v.Record.Switchover
	if !v.switching() || s.Phase != v1alpha1.SwitchoverMoving || v.Now.After(s.Deadline.Time) {
		return false
	}
	master, former := v.server(v.Record.Master), v.server(s.From)
	takesWrites := v.servesAsMaster(master) && v.masterRole(master) != ""
	return !takesWrites && former != nil && former.Status.SendsClientsAway
}

func (v *View) roleOf(s *Server) string {
	switch {
	case v.keptOut(s):
		return ""
	case v.servesAsMaster(s):
		return v.masterRole(s)
	case v.servesAsReplica(s):
		return v1alpha1.RoleReplica
	case s.Reachable || v.Record.Election != nil:
		return ""
	case s.Label == v1alpha1.RoleMaster && s.Name != v.Record.Master:
		return ""
	}
	// Not reaching a server is no reason to take it from clients that may.
	return s.Label
}

// masterRole keeps the master Service empty until a new master has shown once that it takes writes: before, something in its log may
// have been acknowledged, and read, at the former one, and is not visible here yet. One that had the label and waits for its replicas
// keeps it.
func (v *View) masterRole(s *Server) string {
	if s.Label == v1alpha1.RoleMaster || !s.Status.WritesBlocked {
		return v1alpha1.RoleMaster
	}
	return ""
}
