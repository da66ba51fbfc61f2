/* Plays Simulink for one step: 0 if the S-function describes the ports it is given. */
int stub_simulate(int inputs, const int *in_width, const double **in, int outputs, const int *out_width, double **out);

int stub_simulate(int inputs, const int *in_width, const double **in, int outputs, const int *out_width, double **out)
{
    SimStruct S = {0};
    int i;
    S.continuous = S.discrete = -1;
    mdlInitializeSizes(&S);
    mdlInitializeSampleTimes(&S);
    if (S.inputs != inputs || S.outputs != outputs || S.continuous != 0 || S.discrete != 0 || S.sample_times != 1)
        return 1;
    for (i = 0; i < inputs; i++) {
        if (S.in_width[i] != in_width[i] || !S.contiguous[i] || !S.feedthrough[i])
            return 2;
        S.in[i] = in[i];
    }
    for (i = 0; i < outputs; i++) {
        if (S.out_width[i] != out_width[i])
            return 3;
        S.out[i] = out[i];
    }
    mdlOutputs(&S, 0);
    mdlTerminate(&S);
    return 0;
}
