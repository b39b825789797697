"""Octavia's API, and beside it a thread that stands in for octavia-worker and for amphorae: what the stock driver has
left in a PENDING state is reported as done soon after.
"""
import os
import threading
import time

from octavia.api import app
from octavia.api.drivers.driver_agent import driver_updater
from octavia.common import constants
from octavia.db import api as database
from octavia.db import models
from octavia_lib.common import constants as lib_constants
from oslo_log import log

LOG = log.getLogger(__name__)
PAUSE = 0.2  # seconds between two looks


def parts(balancer):
    """What hangs below a load balancer, as pairs of what a status report calls it and its row."""
    for listener in balancer.listeners:
        yield constants.LISTENERS, listener
        for policy in listener.l7policies:
            yield constants.L7POLICIES, policy
            for rule in policy.l7rules:
                yield constants.L7RULES, rule
    for pool in balancer.pools:
        yield constants.POOLS, pool
        for member in pool.members:
            yield constants.MEMBERS, member
        if pool.health_monitor:
            yield constants.HEALTHMONITORS, pool.health_monitor


def operating(kind, row):
    if not row.enabled:
        return constants.OFFLINE
    if kind == constants.MEMBERS and not is_monitored(row.pool):
        return constants.NO_MONITOR
    return constants.ONLINE


def is_monitored(pool):
    return pool.health_monitor and pool.health_monitor.provisioning_status != constants.PENDING_DELETE


def outcome(balancer):
    """The report that the work on a load balancer is done."""
    report = {}
    cascade = balancer.provisioning_status == constants.PENDING_DELETE
    for kind, row in (*parts(balancer), (constants.LOADBALANCERS, balancer)):
        entry = {'id': row.id}
        if cascade or row.provisioning_status == constants.PENDING_DELETE:
            entry[constants.PROVISIONING_STATUS] = constants.DELETED
        else:
            entry[constants.PROVISIONING_STATUS] = constants.ACTIVE
            entry[constants.OPERATING_STATUS] = operating(kind, row)
        report.setdefault(kind, []).append(entry)
    return report


def look():
    # One transaction, so that a load balancer and its parts are seen as they were at one moment.
    session = database.get_session(autocommit=False)
    try:
        pending = session.query(models.LoadBalancer).filter(
            models.LoadBalancer.provisioning_status.like('PENDING_%'))
        reports = [outcome(balancer) for balancer in pending]
    finally:
        session.close()
    for report in reports:
        answer = driver_updater.DriverUpdater().update_loadbalancer_status(report)
        if answer[lib_constants.STATUS_CODE] != lib_constants.DRVR_STATUS_CODE_OK:
            LOG.error('A report was refused: %s', answer)


def work():
    while True:
        time.sleep(PAUSE)
        try:
            look()
        except Exception:
            LOG.exception('The next look comes in a moment.')


application = app.setup_app(argv=['octavia-api', '--config-file', os.environ['OCTAVIA_CONFIG_FILE']])
threading.Thread(target=work, name='worker', daemon=True).start()
