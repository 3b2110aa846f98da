package postgres

// applying is the sixth version of the schema: the transaction of steps takes one array of records for each kind of thing that steps write.
// commit_steps takes an array for each column: to unfold so many costs the server more than to write the rows. They are unfolded as in
// numbered. Replicas of an earlier version still call commit_steps while others start.
const applying = `
create type step_arg as (
    id bytea, cause bytea, replica bytea, lane bigint, incarnation bigint, epoch bigint, spawn boolean, status smallint,
    deployment bytea, flow bytea, snapshot bytea, result bytea, low bigint, high bigint, emits bigint);
create type close_arg as (instance bytea, generation bigint);
create type wait_arg as (instance bytea, generation bigint, element bytea, channel bytea, key bytea, due bigint, data bytea);
create type receipt_arg as (channel bytea, id bytea, cause bytea, instance bytea, reply bytea, expires bigint);
create type emission_arg as (instance bytea, back bigint, target bytea, payload bytea);
create type record_arg as (instance bytea, epoch bigint, cause bytea, replica bytea, lane bigint, incarnation bigint);

-- apply_steps is the transaction of steps of different instances: all of them, or none. Steps are in the order of their ids, so that two
-- transactions lock rows in one order. closes are waits to close, opens those to open, forgets records to forget.
create function apply_steps(
    spawns bigint, ends boolean,
    steps step_arg[], closes close_arg[], opens wait_arg[], receipts receipt_arg[], emissions emission_arg[], forgets record_arg[]
) returns void language plpgsql as $$
declare
    n bigint;
    m bigint := 0;
    used_again boolean := false;
begin
    -- Every member asserts its own owner and epoch; a member without a row aborts all.
    if cardinality(steps) > spawns then
        with updated as (
            update instances i
            set status = u.status, replica = '', lane = 0, incarnation = 0, since = 0, epoch = i.epoch + 1,
                snapshot = u.snapshot, result = u.result, emitted = i.emitted + u.emits,
                generation = case when u.high = 0 then i.generation when u.low > i.generation then u.high else -1 end
            from (select (a).* from (select unnest(steps) as a) as s) as u
            where not u.spawn and i.id = u.id
                and i.replica = u.replica and i.lane = u.lane and i.incarnation = u.incarnation and i.epoch = u.epoch
            returning i.generation < 0 as marked)
        select count(*), coalesce(bool_or(marked), false) into n, used_again from updated;
        if n <> cardinality(steps) - spawns then
            perform refuse('MR001');
        end if;
    end if;
    if spawns > 0 then
        insert into instances (id, status, epoch, deployment, flow, snapshot, result, generation, emitted)
        select u.id, u.status, 1, u.deployment, u.flow, u.snapshot, u.result, u.high, u.emits
        from (select (a).* from (select unnest(steps) as a) as s) as u where u.spawn and u.epoch = 0
        on conflict (id) do nothing;
        get diagnostics n = row_count;
        if n < spawns then
            update instances i
            set status = u.status, epoch = i.epoch + 1, deployment = u.deployment, flow = u.flow,
                snapshot = u.snapshot, result = u.result, generation = u.high, emitted = i.emitted + u.emits
            from (select (a).* from (select unnest(steps) as a) as s) as u
            where u.spawn and u.epoch > 0 and i.id = u.id and i.status = 1 and i.epoch = u.epoch;
            get diagnostics m = row_count;
        end if;
        if n + m <> spawns then
            perform 1 from (select (a).* from (select unnest(steps) as a) as s) as u join instances i on i.id = u.id where u.spawn and i.status >= 2;
            perform refuse(case when found then 'MR002' else 'MR001' end);
        end if;
    end if;
    if cardinality(receipts) > 0 then
        insert into inbox (channel, id, cause, instance, reply, expires) select (a).* from (select unnest(receipts) as a) as s;
    end if;
    if ends then
        delete from waits w using (select (a).* from (select unnest(steps) as a) as s) as u where u.status >= 3 and not u.spawn and w.instance = u.id;
    end if;
    if cardinality(closes) > 0 then
        delete from waits w using (select (a).* from (select unnest(closes) as a) as s) as c where w.instance = c.instance and w.generation = c.generation;
        get diagnostics n = row_count;
        if n <> cardinality(closes) then
            perform refuse('MR003');
        end if;
    end if;
    if used_again then -- the loss of a claim and a duplicate are told first
        perform refuse('MR004');
    end if;
    if cardinality(opens) > 0 then
        insert into waits (instance, generation, element, channel, key, due, data) select (a).* from (select unnest(opens) as a) as s;
    end if;
    if cardinality(emissions) > 0 then
        insert into outbox (instance, sequence, target, payload)
        select o.instance, i.emitted - o.back, o.target, o.payload from (select (a).* from (select unnest(emissions) as a) as s) as o join instances i on i.id = o.instance;
    end if;
    insert into records (instance, epoch, cause, replica, lane, incarnation)
    select u.id, u.epoch, u.cause, u.replica, u.lane, u.incarnation from (select (a).* from (select unnest(steps) as a) as s) as u
    on conflict do nothing;
    if cardinality(forgets) > 0 then
        delete from records r using (select (a).* from (select unnest(forgets) as a) as s) as f
        where r.instance = f.instance and r.epoch = f.epoch and r.cause = f.cause
            and r.replica = f.replica and r.lane = f.lane and r.incarnation = f.incarnation;
    end if;
end $$;
`
